import{e}from"./en-CuP1hvoF.js";const r=e;export{r as es};
