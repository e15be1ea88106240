import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { Orders } from './orders';
import { OrdersController } from './orders.controller';

@Module({ imports: [DatabaseModule], controllers: [OrdersController], providers: [Orders], exports: [Orders] })
export class OrdersModule {}
