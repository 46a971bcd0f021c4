import{e as o}from"./en-CuP1hvoF.js";const e=o;export{e as fr};
