// A gateway that offers the objects of a recording as history files.

import { createHash } from 'node:crypto'
import { startServer } from '../../kit/http-server.ts'
import type { RecordedObject } from './recording.ts'

export interface ArchiveServer {
  readonly url: string
  /** Keys of the objects whose links were listed, and so charged. */
  readonly listed: string[]
  readonly fetched: string[]
  /** Number of calls that the rate limit rejects. */
  rejections: number
  /** Changes bytes on their way. */
  damage: (key: string) => boolean
  close(): void
}

export const API_KEY = 'the key'

const creditsOf = (files: readonly RecordedObject[]) => files.length

export async function serveArchive(objects: readonly RecordedObject[]): Promise<ArchiveServer> {
  const server = await startServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url!, 'http://gateway')
    const json = (body: object, status = 200) => response.writeHead(status).end(JSON.stringify(body))
    if (pathname.startsWith('/file/')) {
      const key = pathname.slice('/file/'.length)
      archive.fetched.push(key)
      const { bytes } = objects.find((one) => one.key === key)!
      return void response.end(archive.damage(key) ? bytes.subarray(1) : bytes)
    }
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return void json({ error: true, error_message: 'The API key is unknown.' }, 401)
    if (archive.rejections-- > 0) {
      response.setHeader('retry-after', '0')
      return void json({ error: true, error_message: 'Too many requests.' }, 429)
    }
    const products = query.get('products')!.split(',')
    const isWithin = ({ product, from_ms: ms }: RecordedObject) =>
      products.includes(product) && ms >= Number(query.get('from')) && ms <= Number(query.get('to'))
    const found = objects.filter(isWithin)
    const bytes = found.reduce((sum, one) => sum + one.bytes.length, 0)
    if (pathname === '/v1/hyperliquid/history/cost')
      return void json({ data: { objects: found.length, bytes, credits: String(creditsOf(found)) } })
    const at = Number(query.get('after') ?? 0)
    const end = at + Number(query.get('limit'))
    const page = found.slice(at, end)
    const files = page.map(({ bytes, ...object }) => ({
      ...object,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      link: `/file/${object.key}`,
    }))
    archive.listed.push(...files.map(({ key }) => key))
    json({ data: { files, next: end < found.length ? String(end) : null, credits: String(creditsOf(page)) } })
  })
  const archive: ArchiveServer = { ...server, listed: [], fetched: [], rejections: 0, damage: () => false }
  return archive
}
