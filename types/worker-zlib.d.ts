// What Workers use of node:zlib, which the compatibility flag `nodejs_zlib` gives them.
declare module 'node:zlib' {
  export const constants: { readonly BROTLI_PARAM_QUALITY: number; readonly Z_FILTERED: number }
  export function brotliCompressSync(
    text: string,
    options: { readonly params: Readonly<Record<number, number>> },
  ): Uint8Array<ArrayBuffer>
  export function gzipSync(
    body: string | Uint8Array,
    options?: { readonly level?: number; readonly strategy?: number; readonly memLevel?: number },
  ): Uint8Array<ArrayBuffer>
  export function gunzipSync(body: Uint8Array): Uint8Array<ArrayBuffer>
}
