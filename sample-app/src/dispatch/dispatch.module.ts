import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { Carrier } from './carrier';
import { Dispatch } from './dispatch';

@Module({ imports: [DatabaseModule], providers: [Dispatch, Carrier] })
export class DispatchModule {}
