// Makes `fetch` open a connection for each request. An idle one is closed by its server, unnoticed while a test or its
// validators hold the thread, and the next request would fail on it: a POST is never repeated.

import { Agent, setGlobalDispatcher } from 'undici'

setGlobalDispatcher(new Agent({ pipelining: 0 }))
