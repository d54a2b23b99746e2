/*
 * The element <daybook-page>: shows the audit page of a service in a frame.
 *
 *   <script src="https://service.example.com/audit/daybook-page.js" defer></script>
 *   <daybook-page resource="/api/orders/1"></daybook-page>
 *
 * Attributes: `src`, the address of the page (default: where this script is); `query`, a query string of the page;
 * `resource`, the path of a resource whose events to show instead; `label`, the name of the frame for assistive technology;
 * `height` in pixels (default 720; with `resource` it follows the content, up to `height`).
 * Events that bubble: `daybook:open` with `detail.id`, when the reader opens an event of a resource.
 */
;(() => {
  const script = document.currentScript
  const HOME = script instanceof HTMLScriptElement ? new URL('.', script.src).href : undefined
  const NAMES = ['src', 'query', 'resource', 'label', 'height']
  const DEFAULT_HEIGHT = 720

  class DaybookPage extends HTMLElement {
    static observedAttributes = NAMES

    #frame = document.createElement('iframe')
    #receive = (event) => this.#onMessage(event)

    constructor() {
      super()
      const root = this.attachShadow({ mode: 'closed' })
      const { style } = this.#frame
      style.display = 'block'
      style.width = '100%'
      style.border = '0'
      root.append(this.#frame)
    }

    connectedCallback() {
      addEventListener('message', this.#receive)
      this.#update()
    }

    disconnectedCallback() {
      removeEventListener('message', this.#receive)
    }

    attributeChangedCallback(name, before, after) {
      if (this.isConnected && before !== after) this.#update()
    }

    get #height() {
      const height = Number(this.getAttribute('height'))
      return height > 0 ? height : DEFAULT_HEIGHT
    }

    get #address() {
      const given = this.getAttribute('src') ?? HOME
      if (given === undefined) return undefined
      const url = new URL(given, document.baseURI)
      if (!/^https?:$/.test(url.protocol)) return undefined
      url.pathname = url.pathname.replace(/\/$/, '')
      const resource = this.getAttribute('resource')
      url.search =
        resource === null
          ? (this.getAttribute('query') ?? '')
          : `resource=${encodeURIComponent(resource)}`
      return url
    }

    #update() {
      const frame = this.#frame
      const url = this.#address
      frame.title = this.getAttribute('label') ?? 'Audit history'
      frame.style.height = `${this.#height}px`
      if (url && frame.src !== url.href) frame.src = url.href
    }

    #onMessage({ source, origin, data }) {
      const url = this.#address
      if (!url || source !== this.#frame.contentWindow || origin !== url.origin) return
      const { type, height, id } = Object(data)
      if (type === 'daybook:size' && height > 0)
        this.#frame.style.height = `${Math.min(Math.ceil(height), this.#height)}px`
      if (type === 'daybook:open' && typeof id === 'string')
        this.dispatchEvent(
          new CustomEvent('daybook:open', { bubbles: true, composed: true, detail: { id } }),
        )
    }
  }

  if (!customElements.get('daybook-page')) customElements.define('daybook-page', DaybookPage)
})()
