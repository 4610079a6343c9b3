// A thread for one line of misc events that is too long to be parsed between two blocks: of 20 MB comes a short one
// that says the same.

import { parentPort, workerData } from 'node:worker_threads'
import { shortenedLine } from './funding.ts'

parentPort?.postMessage(shortenedLine(Buffer.concat(workerData as Uint8Array[]).toString('utf8')))
