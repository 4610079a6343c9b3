// A node of files and HTTP around ModelNode: hourly folders, lines written whole or in halves, fileSnapshot.

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { STREAM_FOLDER, type StreamName } from '../../src/feeder/streams.ts'
import type { ModelNode } from './model-node.ts'

export class FakeNode {
  readonly data: string
  model: ModelNode
  hour = 9
  date = '20260505'
  snapshots = 0
  writesStatuses = false
  #server: Server | null = null

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

  /** All that was written is gone. */
  wipe(): void {
    rmSync(this.data, { recursive: true, force: true })
  }

  async listen(): Promise<string> {
    this.#server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        const { type, outPath } = JSON.parse(body) as { type: string; outPath: string }
        if (type !== 'fileSnapshot') return response.writeHead(422).end()
        this.snapshots++
        writeFileSync(outPath, this.model.snapshotText())
        response.writeHead(200).end('null')
      })
    })
    await new Promise<void>((resolve) => this.#server!.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server?.close()
    this.#server?.closeAllConnections()
  }
}
