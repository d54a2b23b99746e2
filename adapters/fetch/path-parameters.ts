function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The parameters of a route such as `/orders/:id` or `/files/*` in the path of a request. */
export function pathParameters(route: string, path: string): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  if (!/[:*]/.test(route)) return params
  const segments = path.split('/')
  const parts = route.split('/')
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    if (part.startsWith(':')) params[part.slice(1)] = decoded(segments[i] ?? '')
    else if (part === '*') params['*'] = decoded(segments.slice(i).join('/'))
  }
  return params
}
