// The part of Node's module that the rehearsal uses, which the platform's types lack.

declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    getStore(): T | undefined
    run<R>(store: T, run: () => R): R
  }
}
