// Version in CreditMeter requests and responses: the two Workers are deployed separately.

export const METER_API_VERSION = 1
