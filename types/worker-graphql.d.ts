// A schema that is bundled with a Worker, as its import gives it: the file's text.
declare module '*.graphql' {
  const text: string
  export default text
}
