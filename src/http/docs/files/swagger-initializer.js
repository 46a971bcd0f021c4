"use strict";

// The operations in the order in which a client needs them, as the server lists them.
const order = [/* ORDER */];

const place = (operation) => {
  const at = order.indexOf(operation.getIn(["operation", "operationId"]));
  return at < 0 ? order.length : at;
};

// Swagger UI has a dark form under this class.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

// An answer with an access token signs the page in, so that the next call is made with it. A new password brings tokens, too.
const signIn = (response) => {
  const path = new URL(response.url, location.href).pathname;
  const given = path === "/v1/me" ? response.body?.tokens : response.body;
  if (response.ok && ["/v1/players", "/v1/tokens", "/v1/me"].includes(path) && given?.access_token) {
    window.ui.preauthorizeApiKey("bearer", given.access_token);
  }
  return response;
};

// Swagger UI opens links in new windows, which are not signed in. A link to an operation opens it here.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#/"]');
  const [, tag, operation] = link ? link.getAttribute("href").split("/") : [];
  if (!operation || !link.closest(".markdown, .renderedMarkdown")) return;
  event.preventDefault();
  const { layoutActions } = window.ui.getSystem();
  layoutActions.show(["operations-tag", tag], true);
  layoutActions.show(["operations", tag, operation], true);
  const block = document.getElementById(`operations-${tag}-${operation}`);
  if (block) block.scrollIntoView();
});

window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: "list",
  operationsSorter: (a, b) => place(a) - place(b),
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  responseInterceptor: signIn,
  validatorUrl: null,
});
