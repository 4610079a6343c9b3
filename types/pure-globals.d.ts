// What pure files may use beyond the language itself. Seen by tsconfig.pure.json only.
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(input?: Uint8Array | ArrayBuffer, options?: { stream?: boolean }): string
}
declare function atob(text: string): string
declare function btoa(bytes: string): string
declare function structuredClone<T>(value: T): T
declare class URL {
  constructor(url: string, base?: string)
  static parse(url: string, base?: string): URL | null
  readonly hostname: string
  readonly host: string
  readonly pathname: string
  readonly href: string
}
