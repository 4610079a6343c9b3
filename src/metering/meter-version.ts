// Version in CreditMeter requests and responses. They need one because the Workers are deployed separately.

export const METER_API_VERSION = 1
