import { Controller, Get } from '@nestjs/common';
import { PriceList } from './price-list';

@Controller('prices')
export class PricesController {
  constructor(private readonly prices: PriceList) {}

  @Get()
  all(): ReturnType<PriceList['all']> {
    return this.prices.all();
  }
}
