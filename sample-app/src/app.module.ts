import { Module } from '@nestjs/common';
import { DistributedCronModule } from 'nestjs-distributed-cron';
import { Coordination } from './coordination/coordination';
import { CoordinationModule } from './coordination/coordination.module';
import { InvoicingModule } from './invoicing/invoicing.module';
import { OrdersModule } from './orders/orders.module';
import { ReportsModule } from './reports/reports.module';
import { shopConfig } from './shop-config';
import { StockModule } from './stock/stock.module';

@Module({
  imports: [
    DistributedCronModule.forRootAsync({
      imports: [CoordinationModule],
      inject: [Coordination],
      useFactory: ({ options }: Coordination) => ({ ...options, namespace: shopConfig().namespace }),
    }),
    OrdersModule,
    InvoicingModule,
    StockModule,
    ReportsModule,
  ],
})
export class AppModule {}
