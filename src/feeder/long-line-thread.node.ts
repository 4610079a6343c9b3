// Thread that shortens one line of misc events: a line of 20 MB takes too long to parse between two blocks.

import { parentPort, workerData } from 'node:worker_threads'
import { shortenLine } from './funding.ts'

parentPort?.postMessage(shortenLine(Buffer.concat(workerData as Uint8Array[]).toString('utf8')))
