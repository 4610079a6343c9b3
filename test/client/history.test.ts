import { expect, test } from 'vitest'
import type { Answer, HistoryType } from '../../src/client/api.ts'
import { pagesOf } from '../../src/client/history.ts'

type Row = Record<string, unknown>

/** Reads all pages, with the requests sent. */
async function read(type: HistoryType, fields: Row, page: (question: Row) => readonly Row[]) {
  const requests: Row[] = []
  const rows: Row[] = []
  const fetchPage = async (question: object): Promise<Answer<readonly Row[]>> => {
    requests.push(question as Row)
    const credits = { cost: '1', remaining: null }
    return { data: page(question as Row), credits, height: null, ageSeconds: null, requestId: null }
  }
  for await (const { data } of pagesOf(type, fields, fetchPage)) rows.push(...data)
  return { rows, requests }
}

const all = Array.from({ length: 25 }, (_, id) => ({ id, time: Math.floor(id / 2) }))

test('by time: returns each row once', async () => {
  const page = ({ startTime }: Row) => all.filter(({ time }) => time >= Number(startTime)).slice(0, 10)
  const { rows, requests } = await read('userFillsByTime', { user: '0x1', startTime: 0 }, page)
  expect(rows).toEqual(all)
  expect(requests[1]).toEqual({ type: 'userFillsByTime', user: '0x1', startTime: 4 })
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
  await expect(read('userFunding', { user: '0x1', startTime: 7 }, page)).rejects.toMatchObject({
    code: 'page_too_dense',
  })
})

test.each([[[]], [null as never]])('%j is the end', async (answer) => {
  expect((await read('fundingHistory', { coin: 'BTC', startTime: 0 }, () => answer)).rows).toEqual([])
})
