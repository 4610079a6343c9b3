// A style sheet that is loaded with the script that imports it.
declare module '*.css' {}
