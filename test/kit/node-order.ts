// An order as a node writes it in order statuses.

export const EXAMPLE_ORDER = {
  coin: 'BTC',
  side: 'A',
  limitPx: '65045.0',
  sz: '0.0003',
  oid: 412036451268,
  timestamp: 1778002753024,
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  children: [],
  isPositionTpsl: false,
  reduceOnly: false,
  orderType: 'Limit',
  origSz: '0.0003',
  tif: 'Alo',
  cloid: null,
}
