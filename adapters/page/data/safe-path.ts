/**
 * True if the text is a path on this host. `//` and `/\` would name another host; browsers also strip
 * white space and control characters before parsing (URL Standard, section 4.4).
 */
export const isSafePath = (path: string): boolean => /^\/(?![/\\])[^\s\p{Cc}]*$/u.test(path)
