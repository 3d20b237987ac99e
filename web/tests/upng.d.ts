// What the tests use of upng-js, which brings no types.
declare module 'upng-js' {
  interface Decoded {
    width: number;
    height: number;
  }
  const UPNG: {
    decode: (png: ArrayBuffer) => Decoded;
    toRGBA8: (png: Decoded) => ArrayBuffer[];
    /** Writes a picture; with colours, in a palette of that many. */
    encode: (points: ArrayBuffer[], width: number, height: number, colours: number) => ArrayBuffer;
  };
  export default UPNG;
}
