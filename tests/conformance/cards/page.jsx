// Shows cards with the stock React renderer of A2UI. The test fills window.cards with [{name, messages}] first.
import { A2uiSurface, basicCatalog } from "@a2ui/react/v0_9";
import { MessageProcessor } from "@a2ui/web_core/v0_9";
import { createRoot } from "react-dom/client";

function surfaceOf({ messages }) {
  const processor = new MessageProcessor([basicCatalog]);
  processor.processMessages(messages);
  return [...processor.model.surfacesMap.values()][0];
}

function Page() {
  return window.cards.map((card) => (
    <section key={card.name} id={card.name}>
      <A2uiSurface surface={surfaceOf(card)} />
    </section>
  ));
}

createRoot(document.getElementById("page")).render(<Page />);
