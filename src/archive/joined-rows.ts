// Our rows and those of a source as one list. Law: what either has is there once, in order of time; where both have the
// newest rows of all (or the oldest), so has the list as far as the longer of them reaches.

export interface JoinRules<Row> {
  readonly order: 'newest' | 'oldest'
  readonly timeOf: (row: Row) => number
  /** The same for a row of ours and one of theirs that mean the same. */
  readonly idOf: (row: Row) => string
  /** Up to this time the source is asked: what is later we have. */
  readonly untilMs: number
}

/** Both lists are sorted; theirs perhaps the other way around. */
export function joinedRows<Row>(ours: readonly Row[], theirs: readonly Row[], rules: JoinRules<Row>): Row[] {
  const { order, timeOf, idOf, untilMs } = rules
  const sign = order === 'newest' ? -1 : 1
  const first = theirs[0]
  const last = theirs.at(-1)
  const isTurned = first !== undefined && last !== undefined && sign * (timeOf(last) - timeOf(first)) < 0
  const told = (isTurned ? theirs.toReversed() : theirs).filter((row) => timeOf(row) <= untilMs)
  const known = new Set(told.map(idOf))
  // Of one time theirs come first: where it is cut, ours may lack what lies between.
  const more = ours.filter((row) => !known.has(idOf(row)))
  return [...told, ...more].sort((a, b) => sign * (timeOf(a) - timeOf(b)))
}
