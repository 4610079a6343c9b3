// A thread for one line of misc events that is too long to be parsed between two blocks: of 20 MB comes a short one
// that says the same.

import { parentPort, workerData } from 'node:worker_threads'
import { shortenLine } from './funding.ts'

parentPort?.postMessage(shortenLine(Buffer.concat(workerData as Uint8Array[]).toString('utf8')))
