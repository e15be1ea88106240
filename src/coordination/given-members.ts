import type { MemberSource, MemberSourceKind, MemberView } from './member-view.js';

/** A view that is the application's own: nothing is started for it, and nobody is told when this replica leaves. */
export class GivenMembers implements MemberSource {
  readonly #endings = new Set<() => void>();

  constructor(
    private readonly view: MemberView,
    readonly kind: Extract<MemberSourceKind, 'given' | 'alone'>,
  ) {}

  get current(): readonly string[] | undefined {
    return this.view.current;
  }

  onChange(listener: (members: readonly string[]) => void): () => void {
    const end = this.view.onChange(listener);
    this.#endings.add(end);
    return () => {
      this.#endings.delete(end);
      end();
    };
  }

  start(): void {}

  async leave(): Promise<void> {
    // The list may outlive this replica by far: it must not hold on to it.
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
