// A TCP connection of the platform's, which may become TLS.

import { connect } from 'cloudflare:sockets'
import type { Connect } from './postgres.client.ts'

/** The certificate is to be that of the name, whatever address was connected to. */
export const dial: Connect = ({ hostname, port, name }) => {
  const address = { hostname: hostname.includes(':') ? `[${hostname}]` : hostname, port }
  const socket = connect(address, { secureTransport: 'starttls', allowHalfOpen: false })
  const { readable, writable } = socket
  return {
    ...{ readable, writable, close: () => socket.close() },
    startTls: () => socket.startTls({ expectedServerHostname: name }),
  }
}
