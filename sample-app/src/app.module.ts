import { Module } from '@nestjs/common';
import { DistributedCronModule } from 'nestjs-distributed-cron';
import { coordination } from './coordination';
import { InvoicingModule } from './invoicing/invoicing.module';
import { OrdersModule } from './orders/orders.module';
import { ReportsModule } from './reports/reports.module';
import { shopConfig } from './shop-config';
import { StockModule } from './stock/stock.module';

@Module({
  imports: [
    DistributedCronModule.forRootAsync({ useFactory: () => coordination(shopConfig()) }),
    OrdersModule,
    InvoicingModule,
    StockModule,
    ReportsModule,
  ],
})
export class AppModule {}
