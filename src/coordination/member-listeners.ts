type Listener = (members: readonly string[]) => void;

/** Who wants to know of changes of one view. */
export class MemberListeners {
  private readonly listeners = new Set<{ readonly call: Listener }>();

  add(call: Listener): () => void {
    const listener = { call };
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(members: readonly string[]): void {
    for (const { call } of [...this.listeners]) call(members);
  }
}
