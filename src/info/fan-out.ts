// One question to the upstream per item, a few at a time: a Worker has six connections, and a request that waits for
// one would use up its timeout in the queue.

const AT_ONCE = 6

/** The answers in the order of the items. `ask` must not reject. */
export async function fanOut<Item, T>(items: readonly Item[], ask: (item: Item) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  const rest = items.entries()
  const worker = async () => {
    for (const [index, item] of rest) answers[index] = await ask(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return answers
}
