import { expect, test } from 'vitest'
import type { Answer, HistoryType } from '../../src/client/api.ts'
import { pagesOf } from '../../src/client/history.ts'
import { WeirError } from '../../src/client/weir-error.ts'

type Row = Record<string, unknown>

interface Listed {
  readonly rows: readonly Row[]
  readonly nextCursor: string | null
}
/** A gateway without an archive. */
const refuseCursor = ({ cursor }: Row) => {
  if (cursor === '')
    throw new WeirError('invalid_request', 'cursor: needs an archive, which this gateway does not have.')
}

/** Reads all pages, with the requests sent. */
async function read(type: HistoryType, fields: Row, page: (question: Row) => readonly Row[] | Listed) {
  const requests: Row[] = []
  const rows: Row[] = []
  const fetchPage = async (question: object): Promise<Answer<readonly Row[]>> => {
    requests.push(question as Row)
    const credits = { cost: '1', remaining: null }
    const listed = page(question as Row)
    const { rows: data, nextCursor } = listed && 'rows' in listed ? listed : { rows: listed, nextCursor: null }
    return { data, credits, height: null, ageSeconds: null, nextCursor, requestId: null }
  }
  for await (const { data } of pagesOf(type, fields, fetchPage)) rows.push(...data)
  return { rows, requests }
}

const all = Array.from({ length: 25 }, (_, id) => ({ id, time: Math.floor(id / 2) }))

test('by the cursor of the gateway: returns each row once, across empty pages', async () => {
  const page = ({ cursor }: Row) => {
    const at = Number(cursor)
    if (at === 10) return { rows: [], nextCursor: '11' }
    return { rows: all.slice(at - (at > 10 ? 1 : 0)).slice(0, 10), nextCursor: at > 10 ? null : String(at + 10) }
  }
  const fields = { user: '0x1', startTime: 0 }
  const { rows, requests } = await read('userFillsByTime', fields, page)
  expect(rows).toEqual(all.slice(0, 20))
  expect(requests.map(({ cursor }) => cursor)).toEqual(['', '10', '11'])
  const [, , last] = requests
  expect(last).toEqual({ type: 'userFillsByTime', ...fields, cursor: '11' })
  // From a stored cursor.
  expect((await read('userFillsByTime', { ...fields, cursor: '11' }, page)).requests).toHaveLength(1)
})

test('by cursor: an error is not taken for a gateway without cursors', async () => {
  const broken = () => {
    throw new WeirError('invalid_request', 'cursor: points into a block that is no longer stored.')
  }
  await expect(read('userFillsByTime', { user: '0x1', startTime: 0 }, broken)).rejects.toThrow('no longer stored')
})

test('by time, without an archive: returns each row once', async () => {
  const page = (question: Row) => {
    refuseCursor(question)
    return all.filter(({ time }) => time >= Number(question.startTime)).slice(0, 10)
  }
  const { rows, requests } = await read('userFillsByTime', { user: '0x1', startTime: 0 }, page)
  expect(rows).toEqual(all)
  expect(requests[2]).toEqual({ type: 'userFillsByTime', user: '0x1', startTime: 4 })
})

test('by time, newest first: continues before the last row', async () => {
  const page = (question: Row) => {
    refuseCursor(question)
    const { endTime = 99 } = question
    const slices = all.filter(({ time }) => time <= Number(endTime)).map((fill) => ({ fill, twapId: 1 }))
    return slices.reverse().slice(0, 10)
  }
  const { rows, requests } = await read('userTwapSliceFillsByTime', { user: '0x1', startTime: 0 }, page)
  expect(rows.map(({ fill }) => fill)).toEqual(all.toReversed())
  expect(requests[2]).toMatchObject({ startTime: 0, endTime: 7 })
})

test('candles: stays within the request, and returns the changing last one once', async () => {
  const candles = all.map(({ id }) => ({ t: id * 60 }))
  let changes = 0
  const page = ({ req }: Row) => {
    const found = candles.filter(({ t }) => t >= Number((req as Row).startTime)).slice(0, 10)
    return found.map((candle, at) => ({ ...candle, ...(at === found.length - 1 && { n: changes++ }) }))
  }
  const req = { coin: 'BTC', interval: '1m', startTime: 0 }
  const { rows, requests } = await read('candleSnapshot', { req }, page)
  expect(rows.map(({ t }) => t)).toEqual(candles.map(({ t }) => t))
  expect(requests[1]).toEqual({ type: 'candleSnapshot', req: { ...req, startTime: 540 } })
})

test('by cursor of the last row', async () => {
  const page = ({ cursor = '-1_0' }: Row) => {
    const trades = all.map(({ id }) => ({ close_time: id, tx_index: 0 }))
    return trades.filter(({ close_time }) => close_time > Number.parseInt(String(cursor), 10)).slice(0, 10)
  }
  const { rows, requests } = await read('userCompletedTradesByTime', { user: '0x1' }, page)
  expect(rows).toHaveLength(25)
  expect(requests.map(({ cursor }) => cursor)).toEqual([undefined, '9_0', '19_0', '24_0'])
})

test('fails if one time has more rows than a page', async () => {
  const page = () => Array.from({ length: 2_000 }, (_, id) => ({ id, time: 7 }))
  await expect(read('fundingHistory', { coin: 'BTC', startTime: 7 }, page)).rejects.toMatchObject({
    code: 'page_too_dense',
  })
})

test.each([[[]], [null as never]])('%j is the end', async (answer) => {
  expect((await read('fundingHistory', { coin: 'BTC', startTime: 0 }, () => answer)).rows).toEqual([])
})
