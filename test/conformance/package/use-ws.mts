// A user's program for Node 20, compiled by package.test.ts: the types of the package ws match those of the client.
import { createClient } from '@weir/client'
import { WebSocket } from 'ws'

createClient({ url: 'http://127.0.0.1:1', key: 'none', WebSocket }).close()
