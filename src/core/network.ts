// Groups the addresses of callers by network.

/** The network that typically belongs to one owner: a /24 for IPv4, a /48 for IPv6. */
export function areaOf(address: string): string {
  const network = networkOf(address)
  return network.includes(':') ? network.split(':').slice(0, 3).join(':') : network.split('.').slice(0, 3).join('.')
}

/** The network that counts as one caller: a single IPv4 address (possibly IPv4-mapped), or a /64 for IPv6. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address.slice(0, 64)
  const [head = '', tail] = address.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  return groups
    .slice(0, 4)
    .map((group) => group.slice(0, 4).replace(/^0+(?=.)/, ''))
    .join(':')
}
