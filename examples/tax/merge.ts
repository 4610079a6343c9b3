// Merges lists that are sorted by time, and reads a page only when its rows are needed.

type Timed = { time: number }

/** Of rows with the same time, those of earlier lists come first. */
export async function* mergeByTime<Row extends Timed>(lists: readonly AsyncIterable<Row>[]): AsyncGenerator<Row> {
  const iterators = lists.map((list) => list[Symbol.asyncIterator]())
  const heads = await Promise.all(iterators.map((iterator) => iterator.next()))
  for (;;) {
    const times = heads.map((head) => (head.done ? Number.POSITIVE_INFINITY : head.value.time))
    const first = times.indexOf(Math.min(...times))
    const head = heads[first]
    const iterator = iterators[first]
    if (!head || head.done || !iterator) return
    yield head.value
    heads[first] = await iterator.next()
  }
}
