import type { Middleware } from 'koa'
import type { Received } from './received.js'

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const article = ({ at, kind, title, text }: Received): string => `<article>
<h2>${kind}: ${escape(title)}</h2>
<p><time>${at.toISOString()}</time></p>
<pre>${escape(text)}</pre>
</article>`

/** Shows what has arrived, and loads itself again every few seconds. */
const pageOf = (received: readonly Received[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width">
<title>Received webhooks and mails</title>
<h1>Received webhooks and mails</h1>
<p>The subscriptions of the demo deliver to receivers of its own. The newest comes first.</p>
${received.map(article).join('\n') || '<p>Nothing yet. The first webhook arrives in some seconds, the first mail within a minute.</p>'}
</html>
`

/** Serves the page at `/received`. */
export const receivedPage =
  (received: () => readonly Received[]): Middleware =>
  async (ctx, next) => {
    if (ctx.path !== '/received' || ctx.method !== 'GET') return next()
    ctx.set('Content-Security-Policy', "default-src 'none'")
    ctx.type = 'html'
    ctx.body = pageOf(received())
  }
