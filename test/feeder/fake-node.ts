// A node of files and HTTP around ModelNode: hourly folders, complete or partial lines, fileSnapshot.

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { STREAM_FOLDER, type StreamName } from '../../src/feeder/streams.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import type { ModelNode } from './model-node.ts'

export class FakeNode {
  readonly data: string
  model: ModelNode
  hour = 9
  date = '20260505'
  snapshots = 0
  writesStatuses = false
  #server: HttpServer | null = null

  constructor(data: string, model: ModelNode) {
    this.data = data
    this.model = model
  }

  path(stream: StreamName): string {
    return join(this.data, STREAM_FOLDER[stream], 'hourly', this.date, String(this.hour))
  }

  /** Writes `text` at the end of a stream's current file. */
  append(stream: StreamName, text: string): void {
    mkdirSync(dirname(this.path(stream)), { recursive: true })
    appendFileSync(this.path(stream), text)
  }

  /** Produces and writes blocks; a stream in `without` misses its line. */
  write(blocks: number, without: readonly StreamName[] = []): void {
    for (let i = 0; i < blocks; i++) {
      const { lines, statuses } = this.model.step()
      if (this.writesStatuses) this.append('statuses', `${statuses}\n`)
      for (const [stream, line] of lines) if (!without.includes(stream)) this.append(stream, `${line}\n`)
    }
  }

  /** All written files are deleted. */
  wipe(): void {
    rmSync(this.data, { recursive: true, force: true })
  }

  async listen(): Promise<string> {
    this.#server = await startServer(async (request, response) => {
      const { type, outPath } = JSON.parse(await text(request)) as { type: string; outPath: string }
      if (type !== 'fileSnapshot') return response.writeHead(422).end()
      this.snapshots++
      writeFileSync(outPath, this.model.snapshotText())
      response.writeHead(200).end('null')
    })
    return this.#server.url
  }

  close(): void {
    this.#server?.close()
  }
}
