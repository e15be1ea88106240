import { BadRequestException, Body, Controller, Post } from '@nestjs/common';
import { type NewOrder, type Order, Orders } from './orders';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Post()
  place(@Body() body: unknown): Order {
    return this.orders.place(this.validated(body));
  }

  private validated(body: unknown): NewOrder {
    const { reference, sku, quantity } = (body ?? {}) as Partial<NewOrder>;
    if (typeof reference !== 'string' || reference === '') throw new BadRequestException('An order needs a reference.');
    if (typeof sku !== 'string' || !this.orders.sells(sku)) throw new BadRequestException(`We do not sell "${sku}".`);
    if (typeof quantity !== 'number' || !Number.isSafeInteger(quantity) || quantity < 1) {
      throw new BadRequestException('An order needs a quantity of at least 1.');
    }
    return { reference, sku, quantity };
  }
}
