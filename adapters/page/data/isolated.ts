/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EEFF}]/u

/**
 * Isolates a value in the middle of a text, so that its direction does not change the order of its neighbours. A
 * value with its own element uses `<bdi>` instead.
 */
export const isolated = (text: string): string =>
  RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text
