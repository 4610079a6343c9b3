// A TCP connection of the platform's, which may become TLS: its certificate must have the name that was dialled.

import { connect } from 'cloudflare:sockets'
import type { Connect } from './postgres.client.ts'

export const dial: Connect = (to) => connect({ ...to }, { secureTransport: 'starttls', allowHalfOpen: false })
