// A browser's EventSource and fetch for Node, as far as the example in docs/event_streams.md needs them.
const base = process.env.RUNNEL_URL;
const plainFetch = globalThis.fetch;
globalThis.fetch = (path, options) => plainFetch(new URL(path, base), options);

globalThis.EventSource = class EventSource extends EventTarget {
  static CLOSED = 2;
  readyState = 0;
  #lastEventId = "";

  constructor(path) {
    super();
    this.#follow(new URL(path, base));
  }

  close() {
    this.readyState = EventSource.CLOSED;
  }

  async #follow(url) {
    while (this.readyState !== EventSource.CLOSED) {
      try {
        const headers = this.#lastEventId ? { "Last-Event-ID": this.#lastEventId } : {};
        const answer = await plainFetch(url, { headers });
        if (answer.status !== 200) return this.close();
        await this.#read(answer.body.pipeThrough(new TextDecoderStream()));
      } catch {
        // The connection was cut: try again in a moment, as a browser does.
      }
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async #read(body) {
    let rest = "";
    for await (const piece of body) {
      const frames = (rest + piece).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) this.#dispatch(frame);
      if (this.readyState === EventSource.CLOSED) return;
    }
  }

  #dispatch(frame) {
    const field = (name) => frame.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    if (field("data") === undefined) return;
    this.#lastEventId = field("id") ?? this.#lastEventId;
    const event = new Event(field("event"));
    event.data = field("data");
    event.lastEventId = this.#lastEventId;
    this.dispatchEvent(event);
  }
};
