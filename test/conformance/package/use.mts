// A user's program, compiled and run in a fresh project by package.test.ts.
import { createClient, type Frame, type WeirError } from '@weir/client'
import { openBooks } from '@weir/client/books'
import { infoSchemas } from '@weir/client/schemas'

// With the types of a browser, there is no `process`.
const { env } = (globalThis as unknown as { process: { env: { WEIR_URL: string; WEIR_KEY: string } } }).process
const client = createClient({ url: env.WEIR_URL, key: env.WEIR_KEY })
const { data, credits } = await client.info('l2Book', { coin: 'BTC' })
const px: string | undefined = infoSchemas.l2Book.answer.parse(data)?.levels[0][0]?.px
// @ts-expect-error the coin is missing
client.info('l2Book').catch((_: WeirError) => px)
const shown = (frame: Frame<'trades'>): string | undefined => frame.data[0]?.px
// @ts-expect-error there is no such field
client.on({ type: 'trades', coins: 'BTC' }, (event) => event.type === 'data' && shown(event.frame))()

for await (const event of openBooks(client, 'BTC')) {
  if (event.type !== 'book' || event.book.levels(1)[0].length === 0) continue
  console.log(`${credits.cost} credit, ${event.book.step}`)
  break
}
client.close()
