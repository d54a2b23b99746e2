const MAX_RESULTS = 1000

/** Returns the function with a cache of its latest results. Useful for a few frequent texts. */
export function remembered<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>()
  return (text) => {
    let result = results.get(text)
    if (result === undefined) {
      if (results.size === MAX_RESULTS) results.clear()
      results.set(text, (result = compute(text)))
    }
    return result
  }
}
