// What deployers of perps say about them.

import { marketOf } from '../exchange/market.ts'
import type { SomeAnswers } from './answer.ts'

const SAID = [
  ['xyz:GOLD', { category: 'commodities', displayName: 'Gold', keywords: ['metal', 'xau'] }, 'An ounce of gold'],
  ['xyz:TSLA', { category: 'stocks', displayName: 'Tesla' }, 'A share of a maker of cars'],
  ['flx:OIL', { category: 'commodities', keywords: ['crude', 'wti'] }, 'A barrel of oil'],
  ['flx:NVDA', { category: 'stocks' }, 'A share of a maker of chips'],
] as const

/** Of the markets that there are. */
const annotations = () => SAID.filter(([coin]) => marketOf(coin) !== undefined)

function annotation(coin: string) {
  const found = annotations().find(([name]) => name === coin)
  if (found === undefined) return null
  const [, { category, ...rest }, description] = found
  return { category, description, ...rest }
}

/** Null where nothing is said. */
export const ANNOTATION_ANSWERS = {
  perpAnnotation: (_scene, { coin }) => annotation(coin),
  perpCategories: () => annotations().map(([coin, { category }]) => [coin, category]),
  perpConciseAnnotations: () => annotations().map(([coin, concise]) => [coin, concise]),
} satisfies SomeAnswers
