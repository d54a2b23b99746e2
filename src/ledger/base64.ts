/** Standard base64 with padding (RFC 4648, section 4). Runs in browsers. */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** The bytes, or `undefined` if the text is not what {@link toBase64} writes for them. */
export function fromBase64(text: string): Uint8Array | undefined {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    return undefined
  }
  // `atob` also reads white space, missing padding and bits that no byte has.
  return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : undefined
}
