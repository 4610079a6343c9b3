// The client package's contract against a running gateway, as plain functions, so that every runtime runs the same.
// Each throws on failure; `run` returns the names of the passed ones.

import { type Book, createClient, type StreamEvent, type WeirClient, WeirError } from '@weir/client'
import { openBooks } from '@weir/client/books'

export interface Settings {
  readonly url: string
  readonly key: string
  /** `GET` ends every connection that goes through `url`. */
  readonly cut: string
  /** Of which there are fills. */
  readonly past: { readonly fromTime: number; readonly toTime: number }
}

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** The first event that is accepted; the loop is left, which ends what is read. */
async function first<E>(events: AsyncIterable<E>, accepts: (event: E) => boolean): Promise<E> {
  for await (const event of events) if (accepts(event)) return event
  throw new Error('it ended before')
}

type Clause = (client: WeirClient, settings: Settings) => Promise<void>

const CLAUSES: Readonly<Record<string, Clause>> = {
  'a question is answered with its price, its height and an id': async (client) => {
    const { data, credits, height, requestId } = await client.info('l2Book', { coin: 'BTC' })
    expect(typeof data?.levels[0][0]?.px === 'string', 'no level')
    expect(credits.cost === '1', `cost ${credits.cost}`)
    expect(Number(credits.remaining) > 0, `remaining ${credits.remaining}`)
    expect(height !== null && height > 0, `height ${height}`)
    expect(Boolean(requestId), 'no request id')
  },
  'a refusal is an error with a code': async (client, { url }) => {
    const wrong = createClient({ url, key: 'cqt_nonsense' })
    const codes = [
      client.info('l2Book', { coin: '' }),
      client.info('laterType' as 'allMids'),
      wrong.info('allMids'),
    ].map((asked) => asked.then(String, (error) => (error instanceof WeirError ? error.code : String(error))))
    const found = (await Promise.all(codes)).join(' ')
    expect(found === 'invalid_request unsupported_type unauthorized', found)
    wrong.close()
  },
  'a signal ends a question': async (client) => {
    const own = new AbortController()
    const asked = client.info('allMids', {}, { signal: own.signal })
    own.abort()
    const code = await asked.then(String, (error: WeirError) => error.code)
    expect(code === 'aborted', code)
  },
  'history comes page by page, no row twice': async (client) => {
    const req = { coin: 'BTC', interval: '1m', startTime: Date.now() - 3_600_000 } as const
    const times: number[] = []
    for await (const { data, credits } of client.history('candleSnapshot', { req })) {
      times.push(...data.map(({ t }) => t))
      expect(credits.cost !== null, 'no cost')
    }
    expect(times.length > 0 && new Set(times).size === times.length, `candles at ${times}`)
  },
  'a stream begins, tells, and ends at the gateway where its loop is left': async (client) => {
    const types: string[] = []
    for await (const event of client.subscribe({ type: 'allFills' })) {
      types.push(event.type)
      if (event.type === 'data' && event.frame.fills.length > 0) break
    }
    expect(types[0] === 'live', types.join())
    // The same body again: it was left.
    await first(client.subscribe({ type: 'allFills' }), ({ type }) => type === 'live')
  },
  'a callback hears until its signal': async (client) => {
    const own = new AbortController()
    const ended = await new Promise<StreamEvent<'trades'>[]>((resolve) => {
      const events: StreamEvent<'trades'>[] = []
      const hear = (event: StreamEvent<'trades'>) => {
        events.push(event)
        if (event.type === 'live') own.abort()
        if (event.type === 'end') resolve(events)
      }
      client.on({ type: 'trades', coin: 'BTC' }, hear, { signal: own.signal })
    })
    const last = ended.at(-1)
    expect(last?.type === 'end' && last.end.code === 'aborted', JSON.stringify(last))
  },
  'a body that is refused, and a key, end a stream with a code': async (client, { url }) => {
    const unknown = await first(client.subscribe({ type: 'trades', coin: 'NO COIN' }), ({ type }) => type === 'end')
    expect(unknown.type === 'end' && unknown.end.code === 'invalid_request', JSON.stringify(unknown))
    const wrong = createClient({ url, key: 'cqt_nonsense' })
    const refused = await first(wrong.subscribe({ type: 'allFills' }), ({ type }) => type === 'end')
    expect(refused.type === 'end' && refused.end.code === 'unauthorized', JSON.stringify(refused))
    wrong.close()
  },
  'books are in step by their checksums, and are so again after a cut': async (client, { cut }) => {
    const books = openBooks(client, ['BTC', 'ETH'])
    let isCut = false
    let wasOut = false
    const isChecked = ({ step, checks }: Book) => step === 'in step' && checks > 2
    for await (const event of books) {
      const both = ['BTC', 'ETH'].map((coin) => books.get(coin))
      if (event.type === 'step' && isCut && event.step === 'out of step') {
        wasOut = true
        expect(books.get(event.coin).levels()[0].length === 0, 'levels of a book that is out of step')
      }
      expect(event.type !== 'end', JSON.stringify(event))
      if (!both.every(isChecked)) continue
      expect(
        both.every((book) => book.levels(5)[0].length > 0),
        'no levels',
      )
      if (wasOut) break
      if (!isCut) await fetch(cut)
      isCut = true
    }
  },
  'fills go on after a cut where they were, or a gap tells': async (client, { cut }) => {
    const fills = client.subscribe({ type: 'allFills' })
    const seen = new Set<string>()
    let twice = 0
    let live = 0
    for await (const event of fills) {
      expect(event.type !== 'end', JSON.stringify(event))
      if (event.type === 'live') live++
      if (event.type === 'data')
        for (const [user, { tid, coin, time }] of event.frame.fills) {
          const name = `${user} ${tid} ${coin} ${time}`
          if (seen.has(name)) twice++
          seen.add(name)
        }
      if (live === 1 && fills.height !== null && seen.size > 0) {
        live = 10
        await fetch(cut)
      }
      if (live === 11 && seen.size > 1) break
    }
    expect(twice === 0, `${twice} fills came twice`)
  },
  // It waits for what is not archived yet, as long as the archive takes.
  'a replay brings what was, and ends': async (client, { past }) => {
    const range = { ...past, speed: 'max' } as const
    const times: number[] = []
    let last: StreamEvent<'allFills'> | undefined
    for await (const event of client.replay({ type: 'allFills' }, range)) {
      if (event.type === 'data') times.push(...event.frame.fills.map(([, { time }]) => time))
      last = event
    }
    expect(last?.type === 'end' && last.end.code === 'finished', JSON.stringify(last))
    expect(times.length > 0 && times.every((time) => time >= range.fromTime && time <= range.toTime), times.join())
  },
  'a closed client answers nothing any more': async (_, { url, key }) => {
    const own = createClient({ url, key })
    const fills = own.subscribe({ type: 'allFills' })
    own.close()
    const end = await first(fills, ({ type }) => type === 'end')
    expect(end.type === 'end' && end.end.code === 'closed', JSON.stringify(end))
    const code = await own.info('allMids').then(String, (error: WeirError) => error.code)
    expect(code === 'aborted', code)
  },
}

/** What failed of each, or null, and how long it took. */
export type Found = Record<string, { readonly failure: string | null; readonly ms: number }>

export async function run(settings: Settings): Promise<Found> {
  const found: Found = {}
  for (const [name, clause] of Object.entries(CLAUSES)) {
    const begun = Date.now()
    const client = createClient(settings)
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, 200_000, 'it took more than 200 s')
    })
    const work = clause(client, settings).then(
      () => null,
      (error: unknown) => String((error as Error).stack ?? error),
    )
    found[name] = { failure: await Promise.race([work, late]), ms: Date.now() - begun }
    clearTimeout(timer)
    client.close()
  }
  return found
}
