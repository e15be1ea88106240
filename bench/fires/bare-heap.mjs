/** The limit: a binary heap, one timer, one call per entry. No clock steps, no pauses, no events, no coordination. */
export class BareHeap {
  items = [];

  add(schedule, run, nowMs) {
    this.push({ dueAtMs: schedule.next(nowMs), schedule, run });
  }

  start() {
    this.arm();
  }

  stop() {
    clearTimeout(this.timer);
  }

  arm() {
    this.timer = setTimeout(
      () => this.turn(),
      Math.min(Math.max(0, this.items[0].dueAtMs - Date.now()), 2_147_483_647),
    );
  }

  /** As one would write it: take the next, run it, put it back with its next instant. */
  turn() {
    const nowMs = Date.now();
    while (this.items.length > 0 && this.items[0].dueAtMs <= nowMs) {
      const item = this.pop();
      item.run();
      item.dueAtMs = item.schedule.next(item.dueAtMs);
      this.push(item);
    }
    this.arm();
  }

  push(item) {
    const { items } = this;
    let index = items.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (items[parent].dueAtMs <= item.dueAtMs) break;
      items[index] = items[parent];
      index = parent;
    }
    items[index] = item;
  }

  pop() {
    const { items } = this;
    const first = items[0];
    const item = items.pop();
    if (items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1].dueAtMs < items[child].dueAtMs) child += 1;
      if (items[child].dueAtMs >= item.dueAtMs) break;
      items[index] = items[child];
      index = child;
    }
    items[index] = item;
    return first;
  }
}
