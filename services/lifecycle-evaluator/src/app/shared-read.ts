/**
 * One reading for all who ask for it at the same time. Whoever asks gets a reading that started after they
 * asked: those who come while one is under way share the next.
 */
export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  get(): Promise<T> {
    if (this.#current === undefined) {
      return this.#start();
    }
    this.#next ??= this.#current.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<T> {
    this.#next = undefined;
    const current = this.#read().finally(() => {
      if (this.#current === current) {
        this.#current = undefined;
      }
    });
    this.#current = current;
    return current;
  }
}
