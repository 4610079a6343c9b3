/** What steps answer that are taken one right after the other. */
export function drained<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
