import { Module } from '@nestjs/common';
import { DistributedCronModule } from 'nestjs-distributed-cron';
import { Coordination } from './coordination/coordination';
import { CoordinationModule } from './coordination/coordination.module';
import { DispatchModule } from './dispatch/dispatch.module';
import { InvoicingModule } from './invoicing/invoicing.module';
import { OrdersModule } from './orders/orders.module';
import { PricesModule } from './prices/prices.module';
import { ReportsModule } from './reports/reports.module';
import { shopConfig } from './shop-config';
import { StockModule } from './stock/stock.module';

@Module({
  imports: [
    DistributedCronModule.forRootAsync({
      imports: [CoordinationModule],
      inject: [Coordination],
      useFactory: ({ options }: Coordination) => ({
        ...options,
        namespace: shopConfig().namespace,
        // A replica that starts again under its name is home to the same tasks as before.
        memberName: shopConfig().replica,
        // A parcel should not wait for long when a replica dies. The price: one that stands still for seconds counts as dead.
        memberExpiry: '3s',
        leaseTtl: '5s',
        coordinationTimeout: '1s',
      }),
    }),
    OrdersModule,
    InvoicingModule,
    StockModule,
    DispatchModule,
    PricesModule,
    ReportsModule,
  ],
})
export class AppModule {}
