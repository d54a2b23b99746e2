function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The parameters of a route such as `/orders/:id` or `/files/*` in the path of a request. */
export function pathParameters(route: string, path: string): Readonly<Record<string, string>> {
  const segments = path.split('/')
  const params = route.split('/').flatMap((part, i): [string, string][] => {
    if (part.startsWith(':')) return [[part.slice(1), decoded(segments[i] ?? '')]]
    return part === '*' ? [['*', decoded(segments.slice(i).join('/'))]] : []
  })
  return Object.fromEntries(params)
}
