import { expect, test } from 'vitest'
import { STILL_MS, Stillness } from '../../src/relay/stillness.ts'

// WS-108
test('told once that no block comes, once that they go on, and nothing while nobody waits', () => {
  const stillness = new Stillness()
  expect(stillness.look(0, false)).toBeNull()
  expect(stillness.look(STILL_MS * 2, true)).toBeNull()
  expect(stillness.came(STILL_MS * 2 + 5)).toBe(false)
  expect(stillness.look(STILL_MS * 3, true)).toBeNull()
  expect(stillness.look(STILL_MS * 3 + 5, true)).toBe(STILL_MS)
  expect(stillness.look(STILL_MS * 4, true)).toBeNull()
  expect(stillness.came(STILL_MS * 5)).toBe(true)
  expect(stillness.came(STILL_MS * 5)).toBe(false)
  expect(stillness.look(STILL_MS * 6, true)).toBe(STILL_MS)
  expect(stillness.look(STILL_MS * 7, false)).toBeNull()
  expect(stillness.look(STILL_MS * 8, true)).toBeNull()
})
