/**
 * Whether the text leads to this host and nowhere else: a path, not `//`, nor `/\`, which browsers take
 * for it, nor white space and control characters, which they leave out (URL Standard, section 4.4).
 */
export const isSafePath = (path: string): boolean => /^\/(?![/\\])[^\s\p{Cc}]*$/u.test(path)
